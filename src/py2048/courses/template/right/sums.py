def total(board):
    return sum(sum(row) for row in board)


def show(board):
    for row in board:
        print(" ".join(str(tile or ".") for tile in row))
    print(f"Total: {total(board)}")
