import { describe, expect, it } from 'vitest'
import { parts } from '../src/parts.ts'
import { stateConformance } from './state.conformance.ts'
import { temporaryFolder } from './support/temporary.ts'

for (const [name, create] of Object.entries(parts.state)) {
  stateConformance(name, () => create({ folder: temporaryFolder() }))
}

describe('state level', () => {
  it('keeps everything over a restart', async () => {
    const folder = temporaryFolder()
    const first = await parts.state.level({ folder })
    await first.put({ id: 'a', videos: ['-4lB5EKS5Uk'], revision: 3 })
    await first.putUsage({ day: '2026-11-20', used: 5 })
    await first.close()
    const second = await parts.state.level({ folder })
    expect(await second.get('a')).toEqual({ id: 'a', videos: ['-4lB5EKS5Uk'], revision: 3 })
    expect(await second.usage()).toEqual({ day: '2026-11-20', used: 5 })
    await second.close()
  })
})
