/** Runs some work and counts the turns of the event loop meanwhile. @param onTurn called at each turn */
export async function countTurns<T>(
  run: () => Promise<T>,
  onTurn: () => void = () => {},
): Promise<{ turns: number; result: T }> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    onTurn()
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const result = await run()
  isOver = true
  return { turns, result }
}
