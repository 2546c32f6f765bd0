from extensions.algorithms.thesis import vsm_tr
from extensions.rankings.vsm import by_thesis, gettext_noop

MODEL = by_thesis(vsm_tr, gettext_noop("Thesis: with reweighting"))
