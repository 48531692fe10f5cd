import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long for their size: the majority start processes repeatedly. */
const LONG_TESTS = [
  'chaos/test/kills',
  'deploy/test/backup',
  'deploy/test/commands',
  'kv/test/linearizability',
  'kv/test/model',
  'prices/test/oracle',
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
 * Runs the longest files first, so that no long file runs alone at the end. Vitest knows the durations of the previous
 * run. Without one, it starts with the largest files.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG_TESTS.some((name) => moduleId.includes(`/${name}.`))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
