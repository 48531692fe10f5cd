import type { BenchRow } from '../row.ts'
import type { TargetProcess } from '../targets/target.ts'

/**
 * Starts the target of a row, and prepares it.
 * @param checkout folder of another checkout whose service starts
 * @param env in addition to the environment of this process
 */
export async function startRow(
  { target, prepare }: BenchRow,
  checkout?: string,
  env?: Readonly<Record<string, string>>,
): Promise<TargetProcess> {
  const running = await target.start(checkout, env)
  try {
    await prepare?.(running)
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}
