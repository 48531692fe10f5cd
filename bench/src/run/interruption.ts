import { stopChildren } from '../processes.ts'

/**
 * From now on a signal ends the run, and not the process at once, so that no process and no temporary folder remains.
 * @returns the signal of the run, whose reason names the signal of the process
 */
export function handleInterruption(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    // A terminal sends the signal to the whole group, and pnpm sends it again: the second must not end the cleanup.
    process.on(name, () => {
      controller.abort(new Error(`ended by ${name}`))
      stopChildren()
    })
  return controller.signal
}

/** Reports the error of a command, which then exits with 1. After an interruption, other errors are its consequences. */
export function reportFailure(error: unknown, interruption?: AbortSignal): void {
  const { message } = (interruption?.aborted ? interruption.reason : error) as Error
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
