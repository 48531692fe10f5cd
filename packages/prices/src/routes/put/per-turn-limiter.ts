/**
 * Creates a function that at most `limit` callers pass in each turn of the event loop. Further callers wait for later
 * turns, in their order, and other work proceeds meanwhile. `yieldTurn` cannot replace it: a caller's reply
 * is written later, so its time is not known here.
 */
export function createPerTurnLimiter(limit: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []
  let left = limit

  function startTurn(): void {
    const admitted = waiting.splice(0, limit)
    left = limit - admitted.length
    if (admitted.length > 0) setImmediate(startTurn)
    for (const admit of admitted) admit()
  }

  return () => {
    if (left === limit) setImmediate(startTurn)
    if (left === 0) return new Promise((admit) => waiting.push(admit))
    left--
    return undefined
  }
}
