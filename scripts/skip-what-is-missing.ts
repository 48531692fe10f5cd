import { afterAll, afterEach } from 'vitest'

/** What tests say who need a program that this machine does not have and cannot get. */
const MISSING = [
  /nats-server is neither in NATS_SERVER nor on the path/,
  /the binary of "roaring" is missing/,
  /strace \(a package of that name\) is needed/,
  /these tests need a browser/,
  /a small file system is needed/,
]

interface Fault {
  readonly message?: string
}

/** Why something failed, if that is for want of a program alone; on CI, which has all of them, nothing is wanting. */
function wanting(faults: readonly Fault[] | undefined): string | undefined {
  if (process.env.CI || !faults?.length) return undefined
  const isMissing = ({ message = '' }: Fault) => MISSING.some((pattern) => pattern.test(message))
  return faults.every(isMissing) ? faults[0]!.message : undefined
}

// Such a test is skipped, and counted as that; what is missing stands beside it.
afterEach(({ task, skip }) => {
  const why = wanting(task.result?.errors)
  if (why !== undefined) skip(why)
})

// Of what is made for all tests of a file: these have been skipped by now.
// oxlint-disable-next-line no-empty-pattern -- vitest wants the first argument taken apart
afterAll(({}, { result }) => {
  const why = wanting(result?.errors)
  if (why === undefined) return
  process.stderr.write(`skipped: ${why}\n`)
  Object.assign(result!, { state: 'skip', errors: undefined })
})
