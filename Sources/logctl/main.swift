Logctl.main()
