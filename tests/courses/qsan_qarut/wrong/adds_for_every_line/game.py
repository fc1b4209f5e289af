from controller import Controller

controller = Controller()
controller.view.window.mainloop()
