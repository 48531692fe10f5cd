import { createProgressLine } from '@influencer-stats/runtime/progress-line'

/** Shows the progress of an export or an import. */
export interface EntryProgress {
  /**
   * @param entries number of processed entries
   * @param done processed bytes
   * @param total size of all entries (bytes), if known
   */
  update(entries: number, done: number, total?: number): void
  /** Ends the line. */
  end(): void
}

const MIB = 1_048_576

function createEntryProgress(verb: string, output: NodeJS.WriteStream): EntryProgress {
  const { update, end } = createProgressLine(output)
  const startedAt = Date.now()
  return {
    update(entries, done, total) {
      const seconds = (Date.now() - startedAt) / 1000
      const rate = seconds > 0 ? (done / MIB / seconds).toFixed(1) : '-'
      update(`${verb} ${entries} entries, ${(done / MIB).toFixed(1)} MiB, ${rate} MiB/s`, total && done / total)
    },
    end,
  }
}

/**
 * Runs `run`, and shows its progress on standard error.
 * @param verb word before the count, such as `exported`
 */
export async function withEntryProgress(verb: string, run: (progress: EntryProgress) => Promise<void>): Promise<void> {
  const progress = createEntryProgress(verb, process.stderr)
  try {
    await run(progress)
  } finally {
    progress.end()
  }
}
