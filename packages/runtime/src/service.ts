import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { BackupSource } from './backup/backup-source.ts'
import type { BucketMemory } from './limits/token-buckets.ts'
import type { Budget } from './memory/budget.ts'
import type { Registry } from './metrics/prom-client.ts'
import type { Broadcast, Bus, Calls, CallHandlers } from './process/channel.ts'
import type { CommonSettings, SettingTable, SettingValues } from './settings/settings.ts'
import type { KeyPair } from './tls/certificate.ts'
import type { Tracer } from './tracing/tracer.ts'

/** What a definition's `open` gets, once per process, on the main thread. */
export interface OpenContext<Config, ToThread extends Calls> {
  readonly config: Config & CommonSettings
  readonly log: Logger
  /** Where this process's own figures are registered; merged into `GET /metrics`. */
  readonly registry: Registry
  /** What makes spans of main's own calls; nothing where none are made. */
  readonly tracer: Tracer | undefined
  readonly broadcast: Broadcast<ToThread>
  /** Ends the process once what is in flight is done, as one that failed: it must not go on. The service has said why. */
  fail(): void
}

/** What `open` gives back: the part of a service that exists once per process. */
export interface ServiceMain<ToMain extends Calls> {
  /** What it keeps its data in, to be backed up. */
  readonly backupSource?: BackupSource | undefined
  /** What the user should know of how it runs: one line below the ready table. */
  readonly note?: string | undefined
  /** What a thread gets when it starts; called anew for each thread, and must survive `structuredClone`. */
  shared?(): unknown
  /** Called when a thread is gone, however it ended, with what it was started with. */
  onThreadExit?(shared: unknown): void
  /** What threads may ask of main. */
  handlers: CallHandlers<ToMain>
  /** Called once, after every thread is gone. Idempotent. */
  close(): Promise<void>
}

/** Where a serving thread is in its life. Only the runtime changes it. */
export interface Lifecycle {
  phase: 'starting' | 'ready' | 'draining'
  /** Aborted when the drain begins: whatever holds replies open lets go of them, or it is waited for. */
  readonly drain: AbortSignal
}

/** What a definition's `app` gets, once per serving thread. */
export interface AppContext<Config, ToMain extends Calls, ToThread extends Calls> {
  readonly config: Config & CommonSettings
  readonly shared: unknown
  readonly bus: Bus<ToMain, ToThread>
  readonly lifecycle: Lifecycle
  readonly log: Logger
  /** What a thread may hold for its clients. */
  readonly budget: Budget
  /** What all threads count requests in; nothing where nobody is limited. */
  readonly limits: BucketMemory | undefined
  /** What TLS begins with; nothing where the service does not speak it. */
  readonly certificate: KeyPair | undefined
  /** What makes spans; nothing where none are made. */
  readonly tracer: Tracer | undefined
  /** This thread's own figures; merged with those of the others in `GET /metrics`. */
  readonly registry: Registry
  /** The figures of all threads and of main in the Prometheus text format. */
  scrape(): Promise<string>
  /** What the service keeps, as one consistent whole. @throws Problem `NO_DATA`, `TOO_MANY_BACKUPS` */
  backup(): Promise<AsyncIterable<Buffer>>
}

/** What `createApp` needs of an `AppContext`. */
export type AppHost = Pick<
  AppContext<unknown, Calls, Calls>,
  'config' | 'log' | 'budget' | 'limits' | 'certificate' | 'tracer' | 'registry' | 'scrape' | 'backup' | 'lifecycle'
>

/** One service: everything the runtime needs to turn it into processes, threads and an HTTP server. */
export interface ServiceDefinition<
  S extends SettingTable = SettingTable,
  ToMain extends Calls = Calls,
  ToThread extends Calls = Calls,
> {
  readonly name: string
  /** One line for `pnpm start --help`. */
  readonly summary: string
  readonly port: number
  /** The service's own settings; every one has a `default` and a `description`. */
  readonly settings: S
  /** Named combinations of settings, chosen with `--variant`. */
  readonly variants?: Readonly<Record<string, Partial<SettingValues<S>>>>
  /**
   * The service invents what it answers, in place of a real one: how to name that. It serves this machine alone, and is
   * left out where nobody asks it.
   */
  readonly standsIn?: string
  /** A command that shows the running service at work, printed when it is ready. */
  example?(url: string): string
  /** Why more than one serving thread would give wrong answers with this configuration, if so. */
  getSingleThreadReason?(config: SettingValues<S> & CommonSettings): string | undefined
  /** Why its data folder is not to be backed up or restored with this configuration, if so, and what is done instead. */
  getNoBackupReason?(config: SettingValues<S> & CommonSettings): string | undefined
  open(context: OpenContext<SettingValues<S>, ToThread>): Promise<ServiceMain<ToMain>>
  /** Loads the code of `app`, where it is not loaded yet: a thread does while main opens what there is. */
  load?(): Promise<unknown>
  app(context: AppContext<SettingValues<S>, ToMain, ToThread>): Promise<FastifyInstance>
}

/** A definition of any service, as the runtime handles it. */
export interface AnyService extends Pick<
  ServiceDefinition,
  'name' | 'summary' | 'port' | 'settings' | 'standsIn' | 'example'
> {
  readonly variants?: Readonly<Record<string, object>>
  getSingleThreadReason?(config: any): string | undefined
  getNoBackupReason?(config: any): string | undefined
  open(context: OpenContext<any, any>): Promise<ServiceMain<any>>
  load?(): Promise<unknown>
  app(context: AppContext<any, any, any>): Promise<FastifyInstance>
}

/** The one table of services: name -> lazy import of its definition. */
export type ServiceTable = Readonly<Record<string, () => Promise<AnyService>>>

/** Gives a definition its types; the value is returned as it is. */
export function defineService<
  S extends SettingTable,
  ToMain extends Calls = Record<never, never>,
  ToThread extends Calls = Record<never, never>,
>(definition: ServiceDefinition<S, ToMain, ToThread>): ServiceDefinition<S, ToMain, ToThread> {
  return definition
}
