/** A mutation that once passed all tests: in `file`, the text that matches `from` is replaced by `to`. */
export interface NamedMutation {
  readonly name: string
  readonly file: string
  readonly from: RegExp
  readonly to: string
  /** Tests that must detect the mutation. */
  readonly tests: readonly string[]
}

const STATS = 'packages/stats/src'
const tests = ['packages/stats']

/** The named mutations, which run in addition to random mutations. */
export const NAMED_MUTATIONS: readonly NamedMutation[] = [
  {
    name: 'stats: failed videos are read again at once',
    tests,
    file: `${STATS}/refresh/schedule.ts`,
    from: /#failures\.getDue\(now\)/,
    to: '#failures.getDue(Infinity)',
  },
  {
    name: 'stats: the last reply of a connection during a drain does not announce its end',
    tests: [...tests, 'packages/runtime/test/server-', 'packages/runtime/test/drain'],
    file: 'packages/runtime/src/http/server/raw-connection.ts',
    from: /isLast && this\.#host\.lifecycle\.phase !== 'ready'/,
    to: 'false',
  },
  {
    name: 'stats: a call of YouTube has no deadline',
    tests,
    file: `${STATS}/youtube/deadline.ts`,
    from: /\bsetTimeout\(Deadline\.#end, timeout, this\)/,
    to: 'setTimeout(() => {}, 0)',
  },
  {
    name: 'stats: a collection is acknowledged before it is on the disk',
    tests: [...tests, 'chaos/scenarios/power.chaos'],
    file: `${STATS}/state/stats-change.ts`,
    from: /(?<=new Set\(\[[^\]]*)'put',/,
    to: '',
  },
  {
    name: 'stats: a deletion is acknowledged before it is on the disk',
    tests: [...tests, 'chaos/scenarios/power.chaos'],
    file: `${STATS}/state/stats-change.ts`,
    from: /(?<=new Set\(\[[^\]]*)'delete',/,
    to: '',
  },
  {
    name: 'log: a node with newer entries adopts a log that continues after fewer',
    tests: ['packages/log/test/successor'],
    file: 'packages/log/src/jetstream/start-position.ts',
    from: /last > fork\.seq/,
    to: 'false',
  },
]

/** Files for random mutations, and their tests. */
export interface Area {
  readonly files: RegExp
  /** Tests that detect the majority of the mutations, and take seconds. */
  readonly near: readonly string[]
  /** All tests that should detect the mutations. */
  readonly tests: readonly string[]
}

/** Prefixes of test files, without their tier. */
const testsOf = (name: string, ...files: readonly string[]) => files.map((file) => `packages/${name}/test/${file}.`)

export const AREAS: readonly Area[] = [
  {
    files:
      /^packages\/stats\/src\/(core\/quota-budget|quota\/quota-(meter|persistence)|refresh\/(failures|first-numbers|poller|reply-table|schedule|video-table))\.ts$/,
    near: testsOf(
      'stats',
      'schedule',
      'poller',
      'video-table',
      'removed-videos',
      'quota-persistence',
      'core-functions',
      'cache',
      'stale-numbers',
      'upstream',
    ),
    tests: ['packages/stats'],
  },
  {
    files: /^packages\/kv\/src\/store\/(group-commit|key-locks)\.ts$/,
    near: testsOf('kv', 'group-commit', 'store', 'app', 'revisions', 'linearizability'),
    tests: ['packages/kv'],
  },
  {
    files: /^packages\/sse\/src\/(hub\/hub|fanout\/stream-group)\.ts$/,
    near: testsOf('sse', 'hub', 'broker', 'backlog', 'app'),
    tests: ['packages/sse'],
  },
  {
    files: /^packages\/prices\/src\/search\/(bulk-search|item-scanner|request-scanner)\.ts$/,
    near: testsOf('prices', 'bulk-search', 'request-scanner', 'abuse', 'app'),
    tests: ['packages/prices'],
  },
]
