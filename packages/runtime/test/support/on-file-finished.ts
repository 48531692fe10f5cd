const closers: (() => unknown)[] = []

/** Calls `close` after the tests of the file. The last registered call runs first. */
export function onFileFinished(close: () => unknown): void {
  closers.push(close)
}

/** Closes what the tests of a file registered. */
export async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close()
}
