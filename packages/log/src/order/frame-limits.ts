/** Most parts that one frame may have: what the server takes as one atomic batch. */
export const MAX_PARTS = 1_000

/** What one message may hold besides its body: its headers, of which the server counts every byte. */
export const MESSAGE_OVERHEAD_BYTES = 512
