import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readContainerLimits } from '../src/supervisor/container-limits.ts'
import { createTemporaryFolder } from './support/temporary-folder.ts'

const GIB = 1_073_741_824
const UNLIMITED_V1 = '9223372036854771712'

/** Creates a folder with the files of a system. */
function createRoot(files: Record<string, string>): string {
  const root = createTemporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), `${text}\n`)
  }
  return root
}

describe('version 2', () => {
  test('a container with its own name space', () => {
    const root = createRoot({
      'proc/self/cgroup': '0::/',
      'sys/fs/cgroup/memory.max': String(GIB),
      'sys/fs/cgroup/cpu.max': '150000 100000',
    })
    expect(readContainerLimits(root)).toEqual({ processors: 1.5, memory: GIB })
  })

  test('the lowest limit of the groups around a unit applies', () => {
    const root = createRoot({
      'proc/self/cgroup': '0::/system.slice/influencer-stats.slice/kv.service',
      'sys/fs/cgroup/system.slice/memory.max': 'max',
      'sys/fs/cgroup/system.slice/influencer-stats.slice/memory.max': String(2 * GIB),
      'sys/fs/cgroup/system.slice/influencer-stats.slice/cpu.max': '400000 100000',
      'sys/fs/cgroup/system.slice/influencer-stats.slice/kv.service/memory.max': String(3 * GIB),
      'sys/fs/cgroup/system.slice/influencer-stats.slice/kv.service/cpu.max': 'max 100000',
    })
    expect(readContainerLimits(root)).toEqual({ processors: 4, memory: 2 * GIB })
  })
})

describe('version 1', () => {
  test('each controller has its own path', () => {
    const root = createRoot({
      'proc/self/cgroup': '4:memory:/docker/a\n2:cpu,cpuacct:/docker/b\n0::/',
      'sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes': String(GIB),
      'sys/fs/cgroup/memory/memory.limit_in_bytes': UNLIMITED_V1,
      'sys/fs/cgroup/cpu,cpuacct/docker/b/cpu.cfs_quota_us': '50000',
      'sys/fs/cgroup/cpu,cpuacct/docker/b/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '-1',
      'sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000',
    })
    expect(readContainerLimits(root)).toEqual({ processors: 0.5, memory: GIB })
  })

  test('the path of the host does not exist in the container', () => {
    const root = createRoot({
      'proc/self/cgroup': '4:memory:/docker/0123456789abcdef',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': String(GIB),
    })
    expect(readContainerLimits(root).memory).toBe(GIB)
  })
})

test.each([
  ['no control groups', {}],
  ['no limits', { 'proc/self/cgroup': '4:memory:/\n0::/', 'sys/fs/cgroup/memory/memory.limit_in_bytes': UNLIMITED_V1 }],
  [
    'damaged files',
    { 'proc/self/cgroup': 'x\n0::/a', 'sys/fs/cgroup/a/memory.max': '', 'sys/fs/cgroup/a/cpu.max': 'x' },
  ],
])('without a limit: %s', (_name, files) =>
  expect(readContainerLimits(createRoot(files as Record<string, string>))).toEqual({
    processors: Infinity,
    memory: Infinity,
  }),
)
