import { availableParallelism } from 'node:os'
import { StartError } from '../errors/common-errors.ts'
import type { ServiceConfig } from '../settings/settings.ts'
import type { AnyService } from '../service.ts'
import { CAN_REUSE_PORT } from './check-port.ts'
import { readContainerLimits, type ContainerLimits } from './container-limits.ts'
import { countFittingThreads } from './memory-plan.ts'

const MAX_THREADS = 64

/** The number of serving threads; 0 if the main thread serves. */
export interface ThreadCount {
  readonly threads: number
  /** Note for the user, if the service has fewer threads than requested. */
  readonly note?: string
}

/** One thread per processor, as far as the quota and the memory of the container allow. */
export function countAutoThreads(
  config: ServiceConfig,
  { processors, memory }: ContainerLimits,
  available: number = availableParallelism(),
): number {
  return Math.min(available, Math.max(1, Math.ceil(processors)), countFittingThreads(memory, config), MAX_THREADS)
}

/** Computes the number of serving threads of a service. @throws StartError `SINGLE_THREAD` */
export function countThreads(
  definition: Pick<AnyService, 'name' | 'getSingleThreadReason'>,
  config: ServiceConfig,
  limits: ContainerLimits = readContainerLimits(),
): ThreadCount {
  const single = definition.getSingleThreadReason?.(config)
  const requested = config.threads === 'auto' ? (single ? 1 : countAutoThreads(config, limits)) : Number(config.threads)
  if (requested > 1 && single)
    throw new StartError('SINGLE_THREAD', `${definition.name}: a maximum of one serving thread, because ${single}`)
  if (requested > 1 && !CAN_REUSE_PORT)
    return { threads: 1, note: `one thread: ${process.platform} cannot share a port between threads` }
  const fitting = countFittingThreads(limits.memory, config)
  if (requested > fitting)
    return {
      threads: fitting,
      note: `${fitting} threads instead of ${requested}: the container has ${Math.floor(limits.memory / 1_048_576)} MB of memory`,
    }
  return { threads: requested }
}
