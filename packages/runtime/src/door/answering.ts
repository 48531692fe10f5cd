/** Where a socket keeps what the raw door knows of it, so that the door's listeners can be shared by all sockets. */
export const CONNECTION = Symbol('connection of the raw door')

/** Whether the raw door is answering a request on a socket; nothing where the socket is not the door's. */
export const isAnsweringOn = (socket: object): boolean | undefined =>
  (socket as { [CONNECTION]?: { readonly isAnswering: boolean } })[CONNECTION]?.isAnswering
