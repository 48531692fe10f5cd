import type { Progress } from '@influencer-stats/bench/progress'
import { getFolder, type FlameSubject } from '../arguments.ts'

/** A subject that could not be recorded, and the error of its last attempt. */
export interface FailedSubject {
  readonly name: string
  readonly message: string
}

/** The step of a subject in the progress of a run. */
export const toStep = (subject: FlameSubject) => ({ row: getFolder(subject), isPaced: false })

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
  /** Records a subject, and once more after a failure: a pause of the machine can spoil the first attempt. */
  async function recordTwice(subject: FlameSubject, name: string): Promise<void> {
    try {
      return await record(subject)
    } catch (error) {
      signal?.throwIfAborted()
      print(`${name} failed, and is recorded again: ${(error as Error).message}`)
    }
    await record(subject)
  }
  for (const subject of subjects) {
    signal?.throwIfAborted()
    const name = getFolder(subject)
    progress.begin(toStep(subject), name)
    try {
      await recordTwice(subject, name)
    } catch (error) {
      signal?.throwIfAborted()
      failed.push({ name, message: (error as Error).message })
      progress.skipRow(toStep(subject).row)
    }
  }
  progress.pause()
  return failed
}
