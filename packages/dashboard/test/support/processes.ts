import { findFreePort } from '@influencer-stats/runtime/testing/free-port'
import { spawnService, type ServiceProcess } from '@influencer-stats/runtime/testing/service-process'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

export type ServiceSettings = Readonly<Record<string, string | number>>

interface ProcessOptions<Name extends string> {
  /** In the order of their start. */
  readonly names: readonly Name[]
  /** The settings of each service without its port and its folder. */
  settings(getUri: (name: Name) => string): Readonly<Record<Name, ServiceSettings>>
  /** Added to the environment of each process. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts services, each in its process: it can be killed, frozen and started again with its address and its data. */
export async function startProcesses<Name extends string>({ names, settings, env }: ProcessOptions<Name>) {
  const ports = new Map(await Promise.all(names.map(async (name) => [name, await findFreePort()] as const)))
  const getUri = (name: Name) => `http://127.0.0.1:${ports.get(name)}`
  const own = settings(getUri)
  const folders = new Map(names.map((name) => [name, createTemporaryFolder()]))
  const running = new Map<Name, ServiceProcess>()
  async function start(name: Name): Promise<void> {
    const given = { port: ports.get(name)!, data: folders.get(name)!, ...own[name] }
    running.set(name, await spawnService(name, given, env))
  }
  for (const name of names) await start(name)
  const signal = (name: Name, kind: NodeJS.Signals) => void process.kill(running.get(name)!.pid, kind)
  return {
    uriOf: getUri,
    start,
    kill: (name: Name) => running.get(name)!.end('SIGKILL'),
    freeze: (name: Name) => signal(name, 'SIGSTOP'),
    thaw: (name: Name) => signal(name, 'SIGCONT'),
  }
}
