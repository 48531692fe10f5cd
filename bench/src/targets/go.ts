import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A Go program that is measured for comparison. */
export interface GoProgram {
  /** Path of the built program. */
  readonly path: string
  /** @throws Error with the reason if the build fails */
  build(): void
}

/** Creates the description of a Go program. @param folder folder of its module, below `bench/peers` */
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
