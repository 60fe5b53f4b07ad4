"""The agent loop: the model is asked, its calls are carried out, it is told what came of them."""
