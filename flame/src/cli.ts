import { standInContender } from '@influencer-stats/bench/contenders/service'
import { PINS } from '@influencer-stats/bench/processes'
import { createProgress } from '@influencer-stats/bench/progress'
import { join } from 'node:path'
import { services } from '../../services.ts'
import { choose, HELP, parseFlameArguments } from './arguments.ts'
import { takeClinicSnapshot } from './clinic.ts'
import { FLAME } from './paths.ts'
import { updateReadme } from './readme.ts'
import { recordService, type Subject } from './record.ts'
import { writeSnapshot } from './snapshot.ts'
import { workloads } from './workloads.ts'

async function variantsOfServices(): Promise<Map<string, readonly string[]>> {
  const names = Object.keys(workloads).filter((name) => Object.hasOwn(services, name))
  const definitions = await Promise.all(names.map((name) => services[name]!()))
  return new Map(definitions.map(({ name, variants }) => [name, Object.keys(variants ?? {})]))
}

async function run(argv: readonly string[]): Promise<void> {
  const { subjects, duration, help } = parseFlameArguments(argv)
  if (help) return void process.stdout.write(HELP)
  const chosen = choose(subjects, await variantsOfServices())
  const progress = createProgress(process.stderr)
  // In a process of its own: its work is not the service's.
  const standIn = await standInContender(PINS.client).start()
  try {
    for (const [i, { service, variant }] of chosen.entries()) {
      const name = `${service}/${variant}`
      const folder = join(FLAME, service, variant)
      const rowOf = await workloads[service]!()
      const row = rowOf({ service, variant, settings: {} }, { youtubeUri: standIn.url })
      const subject: Subject = { service, settings: { variant, youtubeUri: standIn.url }, row }
      progress.step(`${name}: CPU and allocations`, 2 * i + 1, 2 * chosen.length)
      writeSnapshot(folder, { service, variant, seconds: duration }, await recordService(subject, duration))
      progress.step(`${name}: clinic flame`, 2 * i + 2, 2 * chosen.length)
      await takeClinicSnapshot(subject, duration, join(folder, 'clinic-flame.html'))
      await updateReadme()
    }
  } finally {
    await standIn.stop()
    progress.end()
  }
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
