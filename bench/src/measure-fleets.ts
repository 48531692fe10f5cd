import type { FleetRow, FleetRowResult } from './fleet-row.ts'
import { runFleet, type FleetResult } from './load/sse-fleet.ts'
import { reasonOf, type MeasureOptions } from './measure.ts'
import { PINS } from './processes.ts'

/** What makes a round no result, and what it is called. Rejected values are a figure, as at the source. */
const FAULTS = {
  refused: 'streams were refused',
  cut: 'streams were cut',
  unclosed: 'streams were not ended',
  wrong: 'events or replies were wrong',
  lost: 'events were lost',
  doubled: 'events came twice',
  outOfOrder: 'events were out of order',
} as const

/** Why a round is no result; nothing if it is one. */
export function fleetFaultOf(result: FleetResult): string | undefined {
  const found = Object.entries(FAULTS).filter(([name]) => result[name as keyof typeof FAULTS] > 0)
  return found.map(([name, what]) => `${result[name as keyof typeof FAULTS]} ${what}`).join(', ') || undefined
}

async function runRound({ contender, plan }: FleetRow): Promise<FleetResult> {
  const { url, pid, stop } = await contender.start()
  try {
    const result = await runFleet({ ...plan, url, pid, pin: PINS.client })
    const fault = fleetFaultOf(result)
    if (fault) throw new Error(fault)
    return result
  } finally {
    await stop()
  }
}

/** Measures rows in turn, round after round, each on a fresh server: memory that one run left would be the next one's. */
export async function measureFleets(
  rows: readonly FleetRow[],
  { rounds, onStep }: Pick<MeasureOptions, 'rounds' | 'onStep'>,
): Promise<FleetRowResult[]> {
  const states = rows.map((row) => ({ row, rounds: [] as FleetResult[], failure: undefined as string | undefined }))
  let step = 0
  for (let round = 0; round < rounds; round++) {
    // Another order every round: no row always follows the same one.
    const turn = round % states.length
    for (const state of [...states.slice(turn), ...states.slice(0, turn)]) {
      onStep?.(`${state.row.name}: round ${round + 1} of ${rounds}`, ++step, rounds * states.length)
      if (state.failure !== undefined) continue
      try {
        state.rounds.push(await runRound(state.row))
      } catch (error) {
        state.failure = reasonOf(error)
      }
    }
  }
  return states.map(({ row: { name, contender, plan, source }, ...state }) => ({
    name,
    contender: contender.name,
    plan,
    source,
    ...state,
  }))
}
