import { vi } from 'vitest'

/**
 * Runs some work and counts the turns of the event loop meanwhile. The work has its own clock, in which each look at the time
 * takes 1 ms, and no CPU time passes, so the result does not depend on the speed of the machine.
 * @param onTurn called at each turn
 */
export async function countTurns<T>(
  run: () => Promise<T>,
  onTurn: () => void = () => {},
): Promise<{ turns: number; result: T }> {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++)
  // `yieldTurn` allows longer slices after a turn with much CPU time, for example a long garbage collection.
  const cpuTime = vi.spyOn(process, 'threadCpuUsage').mockReturnValue({ user: 0, system: 0 })
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    onTurn()
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  try {
    return { result: await run(), turns }
  } finally {
    isOver = true
    clock.mockRestore()
    cpuTime.mockRestore()
  }
}
