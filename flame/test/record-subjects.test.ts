import { createProgress } from '@influencer-stats/bench/progress'
import { describe, expect, it } from 'vitest'
import { recordSubjects, toStep } from '../src/recording/record-subjects.ts'

const SUBJECTS = ['v1', 'v2', 'v3'].map((variant) => ({ service: 'stats', variant, work: 'read' }))

/** Records subjects, of which the first attempts of some fail. */
async function recordWithFailures(failures: Readonly<Record<string, number>>, signal?: AbortSignal) {
  const lines: string[] = []
  const recorded: string[] = []
  const left = { ...failures }
  const out = { isTTY: false, write: (text: string) => lines.push(text.trimEnd()) > 0 } as NodeJS.WriteStream
  const published = new Map(SUBJECTS.map((one) => [toStep(one).row, 40]))
  const failed = await recordSubjects(
    SUBJECTS,
    async ({ variant }) => {
      if ((left[variant] ?? 0) > 0) {
        left[variant]!--
        throw new Error(`no ${variant}`)
      }
      recorded.push(variant)
    },
    {
      progress: createProgress(out, SUBJECTS.map(toStep), published),
      print: (text) => lines.push(text),
      ...(signal && { signal }),
    },
  )
  return { lines, recorded, failed }
}

describe('recording several subjects', () => {
  it('reports the progress and the remaining time, from the first one on', async () => {
    const { lines, recorded, failed } = await recordWithFailures({})
    expect(lines[0]).toBe('[1/3] stats/v1/read, about 2 min left')
    expect(lines.slice(1).map((line) => line.slice(0, 19))).toEqual(['[2/3] stats/v2/read', '[3/3] stats/v3/read'])
    expect({ recorded, failed }).toEqual({ recorded: ['v1', 'v2', 'v3'], failed: [] })
  })

  it('repeats a failed one once', async () => {
    const { lines, recorded, failed } = await recordWithFailures({ v2: 1 })
    expect(lines).toContain('stats/v2/read failed, and is recorded again: no v2')
    expect({ recorded, failed }).toEqual({ recorded: ['v1', 'v2', 'v3'], failed: [] })
  })

  it('goes on after a second failure, and returns it', async () => {
    const { recorded, failed } = await recordWithFailures({ v2: 2 })
    expect(recorded).toEqual(['v1', 'v3'])
    expect(failed).toEqual([{ name: 'stats/v2/read', message: 'no v2' }])
  })

  it('ends when the user interrupts it', async () => {
    await expect(recordWithFailures({}, AbortSignal.abort(new Error('ended by SIGINT')))).rejects.toThrow('SIGINT')
  })
})
