/** Maximum number of parts of a frame: the server's limit of an atomic batch. */
export const MAX_PARTS = 1_000

/** Reserve for the headers of a message (bytes), which count towards the server's limit. */
export const MESSAGE_OVERHEAD_BYTES = 512
