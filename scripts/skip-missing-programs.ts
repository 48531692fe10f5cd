import { afterAll, afterEach } from 'vitest'

/** Messages of tests that need a program that this machine neither has nor can install. */
const MISSING_PROGRAMS = [
  /nats-server is neither in NATS_SERVER nor in PATH/,
  /the binary of "roaring" is missing/,
  /strace \(a package of that name\) is needed/,
  /these tests need a browser/,
  /^(?:python3 with venv \(3\.11 or later\)|go|curl|php-symfony-mercure of Debian) is needed$/,
  /a small file system is needed/,
]

interface TestFault {
  readonly message?: string
}

/** Returns the reason of a failure that only missing programs caused; undefined on CI, which has all of them. */
function findMissing(faults: readonly TestFault[] | undefined): string | undefined {
  if (process.env.CI || !faults?.length) return undefined
  const isMissing = ({ message = '' }: TestFault) => MISSING_PROGRAMS.some((pattern) => pattern.test(message))
  return faults.every(isMissing) ? faults[0]!.message : undefined
}

// Such a test counts as skipped, with the missing program as its note.
afterEach(({ task, skip }) => {
  const why = findMissing(task.result?.errors)
  if (why !== undefined) skip(why)
})

// For failures in a hook of the whole file, whose tests count as skipped by now.
// oxlint-disable-next-line no-empty-pattern -- vitest wants the first argument taken apart
afterAll(({}, { result }) => {
  const why = findMissing(result?.errors)
  if (why === undefined) return
  process.stderr.write(`skipped: ${why}\n`)
  Object.assign(result!, { state: 'skip', errors: undefined })
})
