import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A program in Go that stands beside ours. */
export interface GoProgram {
  /** Where it is once it was built. */
  readonly path: string
  /** @throws Error that says why it could not be built */
  build(): void
}

/** @param folder its module, below `bench/peers` */
export const createGoProgram = (name: string, folder = '.'): GoProgram => {
  const path = join(tmpdir(), `influencer-stats-${name}`)
  const cwd = fileURLToPath(new URL(`../../peers/${folder}`, import.meta.url))
  return {
    path,
    build() {
      const { status, stderr } = spawnSync('go', ['build', '-o', path, '.'], { cwd, encoding: 'utf8' })
      if (status !== 0) throw new Error(`go could not build ${name}: ${stderr}`)
    },
  }
}
