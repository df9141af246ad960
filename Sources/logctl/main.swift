print("logctl")
