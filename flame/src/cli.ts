import { createProgress } from '@influencer-stats/bench/progress'
import { join } from 'node:path'
import { services } from '../../services.ts'
import { choose, folderOf, HELP, parseFlameArguments, type Chosen } from './arguments.ts'
import { takeClinicSnapshot } from './clinic.ts'
import { FLAME } from './paths.ts'
import { updateReadme } from './readme.ts'
import { recordService, type Subject } from './record.ts'
import { writeSnapshot } from './snapshot.ts'
import { workloads } from './workloads.ts'

/** Every variant of every service under each of its workloads. */
async function allThereIs(): Promise<Chosen[]> {
  const definitions = await Promise.all(Object.keys(workloads).map((name) => services[name]!()))
  return definitions.flatMap(({ name: service, variants = {} }) =>
    Object.keys(variants).flatMap((variant) =>
      Object.keys(workloads[service]!).map((workload) => ({ service, variant, workload })),
    ),
  )
}

async function run(argv: readonly string[]): Promise<void> {
  const { subjects, duration, help } = parseFlameArguments(argv)
  if (help) return void process.stdout.write(HELP)
  const chosen = choose(subjects, await allThereIs())
  const progress = createProgress(process.stderr)
  try {
    for (const [i, one] of chosen.entries()) {
      const { service, variant } = one
      const name = folderOf(one)
      const folder = join(FLAME, name)
      const workload = await workloads[service]![one.workload]!()
      const beside = await workload.beside?.()
      try {
        const subject: Subject = { service, settings: { variant, ...beside?.settings }, workload }
        progress.step(`${name}: CPU and allocations`, 2 * i + 1, 2 * chosen.length)
        writeSnapshot(folder, { ...one, seconds: duration }, await recordService(subject, duration))
        progress.step(`${name}: clinic flame`, 2 * i + 2, 2 * chosen.length)
        await takeClinicSnapshot(subject, duration, join(folder, 'clinic-flame.html'))
      } finally {
        await beside?.stop()
      }
      await updateReadme()
    }
  } finally {
    progress.end()
  }
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
