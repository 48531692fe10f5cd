/** Resolves after the event loop has done what waits for it: long work lets others have their turn. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
