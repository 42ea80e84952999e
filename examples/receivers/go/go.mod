module example.org/receiver

go 1.21
