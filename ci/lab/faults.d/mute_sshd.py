"""Stands in for an sshd that hangs: PORT BANNER. Accepts every connection, sends BANNER if there is one, then nothing."""
import os
import socket
import sys

listener = socket.create_server(("", int(sys.argv[1])), backlog=128)
if os.fork():
    os._exit(0)  # the caller goes on once the port is open
os.setsid()
null = os.open("/dev/null", os.O_RDWR)
for descriptor in range(3):
    os.dup2(null, descriptor)
with open("/run/mute.pid", "w") as file:
    file.write(str(os.getpid()))
connections = []
while True:
    connection, _ = listener.accept()
    if sys.argv[2]:
        connection.sendall(sys.argv[2].encode() + b"\r\n")
    connections.append(connection)
