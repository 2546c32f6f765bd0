"""How good rankings are: test collections, the measures of trec_eval, a table and a plot of them."""
