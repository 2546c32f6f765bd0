from extensions.algorithms.thesis import vsm_qe
from extensions.rankings.vsm import by_thesis, gettext_noop

MODEL = by_thesis(vsm_qe, gettext_noop("Thesis: with expansion"))
