"""The query language: parsed into a tree, written back, evaluated on one posting.

A query is a list of words that are all required, in any order and form. Also:

- ``"two words"`` is a phrase; so is a word of several parts, such as e-mail. Quotes may be curly or
  « ».
- ``-word``, ``-"two words"``, ``-source:wire``, ``-(one two)``, or NOT before any of them: without.
- ``one OR two``, ``one | two``: at least one of them. OR joins its two neighbours, as in most search engines:
  ``paris london OR berlin`` is paris and one of the two others. AND may be written between words; where it meets an OR,
  expectations differ, so parentheses are required.
- ``source: folder: category: lang: author: intitle: before: after: is:``, each directly followed by a value, or by
  several with commas, one of which has to match; values with spaces are quoted.

Case never matters, except for OR, AND and NOT: in lower case they are words. What only resembles a filter (12:30,
re:publica, an address) is a word, unless it is nearly the name of one: then an error suggests it. A dash or another
sign by itself is a word without a condition, as "the" is.
"""

from apps.search.algorithms.language.dates import moment
from apps.search.algorithms.language.errors import BadQuery
from apps.search.algorithms.language.matching import names_match
from apps.search.algorithms.language.parsing import parse
from apps.search.algorithms.language.trees import (
    FIELDS,
    STATES,
    And,
    Field,
    Filter,
    Not,
    Or,
    Phrase,
    Tree,
    Word,
    conditions,
    leaves,
    narrowed,
    says_nothing,
    texts,
    wanted,
    without,
)
from apps.search.algorithms.language.writing import to_text
