import { closeSync, openSync } from 'node:fs'
import { Serial } from '../async/serial.ts'
import { parseArguments } from '../settings/arguments.ts'
import { assertKnownServices, resolveConfig, resolveConfigs, getSettings } from '../settings/resolve-config.ts'
import { StartError } from '../errors/common-errors.ts'
import { VERSION } from '../version.ts'
import { formatHelp } from '../settings/help-text.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import type { AnyService, ServiceTable } from '../service.ts'
import { readContainerLimits } from './container-limits.ts'
import { computeHeapLimits } from './memory-plan.ts'
import { countThreads } from './thread-count.ts'
import { selectSockets, takeActivatedSockets, type ActivatedSocket } from './activated-sockets.ts'
import { CAN_HOLD_LISTENERS } from './held-listeners.ts'
import { startChild, type ServiceChild } from './service-child.ts'
import { trimHeap } from '../worker/trim-heap.ts'
import { print } from '../logging/cli-output.ts'
import { getServiceUrl } from './service-url.ts'
import { formatTable } from '../text-table.ts'

export interface SupervisorOptions {
  readonly services: ServiceTable
  /** URL of the module that exports the table as `services`. Each service process imports it. */
  readonly servicesUrl: string
  readonly argv: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/**
 * `pnpm start`: one child process per service, restarted when it dies, until a signal stops them all. SIGHUP reloads
 * them, unless their terminal has been closed.
 * @returns the exit code: 0 after a clean stop, 1 if a service could not start or did not end cleanly
 */
export async function runSupervisor(options: SupervisorOptions): Promise<number> {
  const stop = Promise.withResolvers<void>()
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.resolve())
  const hadTerminal = hasTerminal()
  const reloads = new Serial()
  let isReloadQueued = false
  process.on('SIGHUP', () => {
    if (!CAN_HOLD_LISTENERS || (hadTerminal && !hasTerminal())) return stop.resolve()
    if (isReloadQueued) return
    isReloadQueued = true
    void reloads.run(() => {
      isReloadQueued = false
      return reloadAll(options, children, stopping.signal)
    })
  })

  const children: Children = new Map()
  let code = 0
  try {
    const plan = await makePlan(options)
    if (typeof plan === 'string') {
      print(plan, 1)
      return 0
    }
    const started = startAll(plan, children, options.servicesUrl, stopping.signal)
    const ready = await Promise.race([started, stop.promise])
    if (ready) {
      print(formatReadyTable(plan, ready), 1)
      for (const child of ready) child.releaseLog()
      trimHeap()
    }
    await stop.promise
  } catch (error) {
    print(error instanceof StartError ? `${error.message}\n` : `${(error as Error).stack}\n`)
    code = 1
  }
  stopping.abort()
  return (await stopAll(children)) ? code : 1
}

/** True if this process has a controlling terminal. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

type SupervisedChild = ServiceChild & {
  /** Names of the services that it needs. */
  readonly needs: string[]
  /** Settings that the supervisor has set: addresses of the services that it needs. */
  readonly settled: Partial<ServiceConfig>
}
type Children = Map<string, Promise<SupervisedChild>>

/** The definitions of the services to start, in the requested order, and their configurations. */
interface StartPlan {
  readonly definitions: readonly AnyService[]
  readonly configs: ReadonlyMap<string, ServiceConfig>
  /** Listening sockets that another program holds. */
  readonly sockets: readonly ActivatedSocket[]
  /** True if log lines of the services may precede the table. */
  readonly isVerbose: boolean
}

async function makePlan({ services, argv, env }: SupervisorOptions): Promise<StartPlan | string> {
  const { services: givenNames, flags, instead, isVerbose } = parseArguments(argv)
  if (instead === 'version') return `${VERSION.name} ${VERSION.version}, Node ${VERSION.node}\n`
  assertKnownServices(givenNames, services)
  const names = givenNames.length > 0 ? [...new Set(givenNames)] : Object.keys(services)
  const load = (name: string) => services[name]!()
  if (instead === 'help') return formatHelp(await Promise.all(names.map(load)))

  // If a service requires the address of another service and has none, the other service is started too. Its own
  // requirements are then checked as well, because `names` grows while this loop runs.
  const definitions: AnyService[] = []
  const neededServices = new Set<string>()
  for (const name of names) {
    const definition = await load(name)
    definitions.push(definition)
    // Errors are reported below, for all services at once.
    const config = resolveConfig(definition, flags, env, [])
    for (const { service, optional } of findMissingAddresses(definition, config)) {
      if (optional) continue
      neededServices.add(service)
      if (!names.includes(service)) names.push(service)
    }
  }
  // A stand-in is omitted if every service has the address of the real API. It is not omitted if the arguments name
  // services.
  const selected = definitions.filter(
    ({ name, standsIn }) => givenNames.length > 0 || !standsIn || neededServices.has(name),
  )
  const configs = resolveConfigs(selected, flags, env)
  checkPorts(configs)
  return { definitions: selected, configs, isVerbose, sockets: takeActivatedSockets(env) }
}

/**
 * Checks for shared ports. Two services with one port would share it unnoticed, because their threads listen with
 * SO_REUSEPORT.
 */
function checkPorts(configs: ReadonlyMap<string, ServiceConfig>): void {
  const chosen = [...configs].filter(([, { port }]) => port !== 0)
  for (const [port, same] of Map.groupBy(chosen, ([, config]) => config.port)) {
    if (same.length === 1) continue
    const flags = same.map(([name]) => `--${name}.port`).join(' and ')
    throw new StartError('PORT_SHARED', `port ${port} cannot serve ${same.length} services: set ${flags}`)
  }
}

/** Finds the settings for addresses of other services that apply with this configuration and are empty. */
function findMissingAddresses(definition: AnyService, config: ServiceConfig) {
  return Object.entries(getSettings(definition)).flatMap(([setting, definition]) => {
    const { service, when = {}, optional = false, early = false } = definition
    const applies = Object.entries(when).every(([other, value]) => config[other] === value)
    return service !== undefined && applies && config[setting] === '' ? [{ setting, service, optional, early }] : []
  })
}

/**
 * Starts every service after the services that it needs at its start (see `Setting.early`). Rejects with the first
 * failure.
 */
function startAll(
  plan: StartPlan,
  children: Children,
  servicesUrl: string,
  stopped: AbortSignal,
): Promise<SupervisedChild[]> {
  const byName = new Map(plan.definitions.map((definition) => [definition.name, definition]))

  async function startOne(definition: AnyService) {
    const config = { ...plan.configs.get(definition.name)! }
    const addresses = findMissingAddresses(definition, config).filter(({ service }) => byName.has(service))
    const urls = addresses.map(async ({ setting, service, early }) => {
      const target = plan.configs.get(service)!
      // With port 0, a service has a URL only after its start.
      const url = early && target.port !== 0 ? getServiceUrl(target) : (await start(byName.get(service)!)).url
      return [setting, url]
    })
    const isInvented = ({ service }: { service: string }) => byName.get(service)!.standsIn !== undefined
    config.standIns = addresses.filter(isInvented).map(({ setting }) => setting)
    config.services = plan.definitions.length
    const settled = Promise.all(urls).then((all) => Object.fromEntries(all) as Partial<ServiceConfig>)
    const startOptions = { services: servicesUrl, name: definition.name, config }
    const heapLimit = computeHeapLimits(
      readContainerLimits().memory,
      config,
      countThreads(definition, config).threads,
    ).main
    const sockets = selectSockets(plan.sockets, definition.name, plan.definitions.length === 1).map(({ fd }) => fd)
    const child = await startChild(startOptions, stopped, settled, {
      holdsLogLines: !plan.isVerbose,
      sockets,
      heapLimit,
    })
    const needs = addresses.map(({ service }) => service)
    return Object.assign(child, {
      needs,
      settled: { ...(await settled), standIns: config.standIns, services: config.services },
    })
  }

  function start(definition: AnyService) {
    const { name } = definition
    if (!children.has(name)) children.set(name, startOne(definition))
    return children.get(name)!
  }

  return Promise.all(plan.definitions.map(start))
}

/**
 * Replaces the process of one service after the other by a successor. The successors get the present content of the
 * files that settings name.
 */
async function reloadAll(options: SupervisorOptions, children: Children, stopped: AbortSignal): Promise<void> {
  let running: SupervisedChild[]
  let plan: StartPlan
  try {
    running = await Promise.all(children.values())
    plan = (await makePlan(options)) as StartPlan
  } catch (error) {
    // A start that failed ends the supervisor.
    if (!stopped.aborted) print(`reload failed: ${(error as Error).message}\n`)
    return
  }
  for (const child of running) {
    if (stopped.aborted) return
    await child.reload({ ...plan.configs.get(child.name)!, ...child.settled })
  }
}

/** Stops all services, each after the services that need it. Resolves with true if all ended cleanly. */
async function stopAll(children: Children): Promise<boolean> {
  const settled = await Promise.allSettled(children.values())
  const running = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const ends = new Map<string, Promise<boolean>>()

  async function endAfterDependents(child: ServiceChild): Promise<boolean> {
    await Promise.all(running.filter(({ needs }) => needs.includes(child.name)).map(end))
    return child.stop()
  }
  function end(child: ServiceChild): Promise<boolean> {
    if (!ends.has(child.name)) ends.set(child.name, endAfterDependents(child))
    return ends.get(child.name)!
  }

  return (await Promise.all(running.map(end))).every(Boolean)
}

/** Formats the table of running services, with notes and example commands. */
function formatReadyTable(plan: StartPlan, children: readonly SupervisedChild[]): string {
  const rows = children.map(({ name, url, pid, threads }) => [name, url, String(pid), String(threads)])
  const notesByService = children.flatMap(({ name, notes }) => notes.map((note) => ({ name, note })))
  const notes = Array.from(
    Map.groupBy(notesByService, ({ note }) => note),
    ([note, group]) => `${group.map(({ name }) => name).join(', ')}: ${note}`,
  )
  for (const { name, standsIn } of plan.definitions) {
    const dependents = children.filter(({ needs }) => needs.includes(name)).map((child) => child.name)
    if (standsIn && dependents.length > 0)
      notes.push(`${dependents.join(', ')}: the numbers of ${name} are invented; for the real API set ${standsIn}`)
  }
  const examples = plan.definitions.flatMap(({ name, example }, i) => {
    const command = example?.(children[i]!.url)
    if (!command) return []
    const withToken = plan.configs.get(name)!.apiToken
      ? command.replaceAll('curl ', 'curl -H "authorization: Bearer $API_TOKEN" ')
      : command
    return ['', `Try ${name}:`, ...withToken.split('\n').map((line) => `  ${line}`)]
  })
  return `\n${[...formatTable([['service', 'URL', 'pid', 'threads'], ...rows]), ...notes, ...examples].join('\n')}\n\n`
}
