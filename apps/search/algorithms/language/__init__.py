"""What people write to find postings: read into a tree, written back, tried on one posting.

A query is words, which all have to be there, in any order and form. Besides:

- ``"two words"`` are looked for as they stand; so is a word of several parts, such as e-mail. Quotes may be curly or
  « ».
- ``-word``, ``-"two words"``, ``-source:wire``, ``-(one two)``, or NOT before any of them: without.
- ``one OR two``, ``one | two``: at least one of them. OR joins its two neighbours, as in most search engines:
  ``paris london OR berlin`` is paris and one of the two others. AND may be written between words; where it meets an OR,
  people differ in what they expect, so parentheses are asked for.
- ``source: category: lang: author: intitle: before: after: is:``, each with a value right behind it. Several values are
  parted by commas, of which one has to hold; values with spaces are quoted.

Letters' case never matters, but for OR, AND and NOT: in small letters they are words. What only looks like a filter
(12:30, re:publica, an address) is a word, unless it is all but the name of a filter: then we ask. A dash or another
sign that stands alone is a word that asks nothing, as "the" is: see `matches`.
"""

from apps.search.algorithms.language.dates import moment
from apps.search.algorithms.language.errors import BadQuery
from apps.search.algorithms.language.matching import PostingValues, matches, names_match
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
    texts,
    wanted,
    without,
)
from apps.search.algorithms.language.writing import to_text
