import { onTestFinished, vi } from 'vitest'
import { dashboard } from '../../src/service.ts'
import { start } from './start-service.ts'

export const TOKENS = { apiToken: 'for-changes', readToken: 'for-reading' }
export const VIDEO = '1FEFpk-uIYo'

/** Starts the dashboard without reachable services. */
export function startDashboard(service: string, settings: Record<string, string | number> = {}) {
  return start(dashboard, {
    statsUri: service,
    sseUri: service,
    demo: 'off',
    ...settings,
  })
}

/** Advances the clock by a day and a moment. @returns a function that restores the clock */
export function advanceOneDay(): () => void {
  const { now } = Date
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 86_400_001)
  onTestFinished(() => void clock.mockRestore())
  return () => void clock.mockRestore()
}
