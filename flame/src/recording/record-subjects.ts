import type { Progress } from '@influencer-stats/bench/progress'
import { getFolder, type FlameSubject } from '../arguments.ts'

/** A subject that could not be recorded, and the error of its last attempt. */
export interface FailedSubject {
  readonly name: string
  readonly message: string
}

/** The step of a subject in the progress of a run. */
export const toStep = (subject: FlameSubject) => ({ row: getFolder(subject), isPaced: false })

/** Attempts for each subject: a pause of the machine can spoil the first one. */
const MAX_ATTEMPTS = 2

/**
 * Records subjects one after the other. A subject that fails is recorded once more. A second failure does not end the
 * run.
 * @param record records a subject and writes its files
 * @param signal ends the run before the next attempt
 */
export async function recordSubjects(
  subjects: readonly FlameSubject[],
  record: (subject: FlameSubject) => Promise<void>,
  { progress, print, signal }: { progress: Progress; print: (text: string) => void; signal?: AbortSignal },
): Promise<FailedSubject[]> {
  const failed: FailedSubject[] = []
  for (const subject of subjects) {
    const name = getFolder(subject)
    progress.begin(toStep(subject), name)
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted()
      try {
        await record(subject)
        break
      } catch (error) {
        const { message } = error as Error
        if (signal?.aborted) throw error
        if (attempt < MAX_ATTEMPTS) {
          print(`${name} failed, and is recorded again: ${message}`)
          continue
        }
        failed.push({ name, message })
        progress.skipRow(toStep(subject).row)
        break
      }
    }
  }
  progress.pause()
  return failed
}
