import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { AppHost } from './http/app/app-host.ts'
import type { Lifecycle } from './http/lifecycle.ts'
import type { BackupSource } from './backup/backup-source.ts'
import type { Registry } from './metrics/prom-client.ts'
import type { Broadcast, Bus, Calls, CallHandlers } from './channel/channel.ts'
import type { SettingTable, SettingValues } from './settings/define-settings.ts'
import type { CommonSettings } from './settings/settings.ts'
import type { Tracer } from './tracing/tracer.ts'

export type { AppHost, Lifecycle }

/** Parameters of a definition's `open`, which runs once per process, on the main thread. */
export interface OpenContext<Config, ToThread extends Calls> {
  readonly config: Config & CommonSettings
  readonly log: Logger
  /** Registry for the metrics of this process. `GET /metrics` includes them. */
  readonly registry: Registry
  /** Creates spans for the calls of main to other services. Undefined if tracing is off. */
  readonly tracer: Tracer | undefined
  readonly broadcast: Broadcast<ToThread>
  /**
   * Ends the process with a failure, after the requests in flight. For a service that must not continue. The service
   * logs the reason before this call.
   */
  fail(): void
}

/** Result of `open`: the part of a service that exists once per process. */
export interface ServiceMain<ToMain extends Calls> {
  /** Data that `GET /backup` returns. Undefined if the service has none. */
  readonly backupSource?: BackupSource | undefined
  /** Note for the user on how the service runs: one line below the table of running services. */
  readonly note?: string | undefined
  /**
   * Returns the data that a thread gets when it starts. Called for each thread; the result must survive
   * `structuredClone`.
   */
  shared?(): unknown
  /** Called when a thread has ended for any reason. @param shared data that the thread got from `shared()` */
  onThreadExit?(shared: unknown): void
  /** Functions of main that threads can call. Undefined if the threads call none. */
  handlers?: CallHandlers<ToMain>
  /** Called once, after every thread has ended. Idempotent. */
  close(): Promise<void>
}

/** Parameters of a definition's `app`, which runs once per serving thread. */
export interface AppContext<Config, ToMain extends Calls, ToThread extends Calls> extends AppHost {
  readonly config: Config & CommonSettings
  /** Result of `shared()` of main when this thread started. */
  readonly shared: unknown
  readonly bus: Bus<ToMain, ToThread>
}

/** One service: everything that the runtime needs to run it in a process with threads and an HTTP server. */
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
   * Set if the service is a stand-in, which invents its replies. Text for the user: the settings that use the real API
   * instead. A stand-in serves this machine only. A start without service names omits it if no service needs it.
   */
  readonly standsIn?: string
  /** Returns a command that shows the running service at work. It is printed when the service is ready. */
  example?(url: string): string
  /**
   * Returns the reason why more than one serving thread would give wrong replies with this configuration. Undefined if
   * several threads are possible.
   */
  getSingleThreadReason?(config: SettingValues<S> & CommonSettings): string | undefined
  /**
   * Returns the reason why a backup cannot be restored into the service's data folder with this configuration, and the
   * alternative. Undefined if it can.
   */
  getNoRestoreReason?(config: SettingValues<S> & CommonSettings): string | undefined
  /** Opens the data of the service. Called once per process, on the main thread. */
  open(context: OpenContext<SettingValues<S>, ToThread>): Promise<ServiceMain<ToMain>>
  /** Loads the code of `open` in advance. Main of a successor calls this while its predecessor serves. */
  loadMain?(config: SettingValues<S> & CommonSettings): Promise<unknown>
  /** Loads the code of `app` in advance. A thread calls this while main opens its data. */
  load?(): Promise<unknown>
  /** Builds the app with the routes of the service. Called once per serving thread. */
  app(context: AppContext<SettingValues<S>, ToMain, ToThread>): Promise<FastifyInstance>
}

/** A definition of any service, as the runtime handles it. */
export type AnyService = ServiceDefinition<any, any, any>

/** The table of services: by name, a function that imports the definition. */
export type ServiceTable = Readonly<Record<string, () => Promise<AnyService>>>

/** Infers the types of a definition; returns the value unchanged. */
export function defineService<
  S extends SettingTable,
  ToMain extends Calls = Record<never, never>,
  ToThread extends Calls = Record<never, never>,
>(definition: ServiceDefinition<S, ToMain, ToThread>): ServiceDefinition<S, ToMain, ToThread> {
  return definition
}
