import { afterAll, afterEach } from 'vitest'

/** What tests say who need a program that this machine does not have and cannot get. */
const MISSING_PROGRAMS = [
  /nats-server is neither in NATS_SERVER nor on the path/,
  /the binary of "roaring" is missing/,
  /strace \(a package of that name\) is needed/,
  /these tests need a browser/,
  /a small file system is needed/,
]

interface TestFault {
  readonly message?: string
}

/** Why something failed, if that is for want of a program alone; on CI, which has all of them, nothing is wanting. */
function findMissing(faults: readonly TestFault[] | undefined): string | undefined {
  if (process.env.CI || !faults?.length) return undefined
  const isMissing = ({ message = '' }: TestFault) => MISSING_PROGRAMS.some((pattern) => pattern.test(message))
  return faults.every(isMissing) ? faults[0]!.message : undefined
}

// Such a test is skipped, and counted as that; what is missing stands beside it.
afterEach(({ task, skip }) => {
  const why = findMissing(task.result?.errors)
  if (why !== undefined) skip(why)
})

// Of what is made for all tests of a file: these have been skipped by now.
// oxlint-disable-next-line no-empty-pattern -- vitest wants the first argument taken apart
afterAll(({}, { result }) => {
  const why = findMissing(result?.errors)
  if (why === undefined) return
  process.stderr.write(`skipped: ${why}\n`)
  Object.assign(result!, { state: 'skip', errors: undefined })
})
