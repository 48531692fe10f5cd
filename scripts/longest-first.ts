import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They take long for their size: most start processes again and again. */
const LONG_TESTS = [
  'bench/test/load',
  'chaos/test/kills',
  'dashboard/test/day-browser',
  'deploy/test/backup',
  'deploy/test/commands',
  'kv/test/linearizability',
  'kv/test/model',
  'prices/test/variants',
  'runtime/test/drain',
  'runtime/test/full-disk',
  'runtime/test/overload',
  'runtime/test/supervisor',
  'runtime/test/threads',
  'sse/test/resume',
  'stats/test/upstream',
]

/**
 * What takes longest comes first, so that nothing long is left alone at the end. Vitest knows the longest files from the run
 * before, and takes the largest where there was none.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG_TESTS.some((name) => moduleId.endsWith(`/${name}.test.ts`))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
