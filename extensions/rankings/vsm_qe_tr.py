from extensions.algorithms.thesis import vsm_qe_tr
from extensions.rankings.vsm import by_thesis, gettext_noop

MODEL = by_thesis(vsm_qe_tr, gettext_noop("Thesis: with both"))
