import controller

if __name__ == "__main__":
    controller.Controller().view.window.mainloop()
