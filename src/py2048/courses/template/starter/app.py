def total(board):
    pass


def show(board):
    pass
