def total(board):
    result = 0
    for row in board:
        for tile in row:
            result = result + tile
    return result


def show(board):
    for row in board:
        line = ""
        for tile in row:
            if tile == 0:
                line = line + ". "
            else:
                line = line + str(tile) + " "
        print(line)
    print("Total:", total(board))
