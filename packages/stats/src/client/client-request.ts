import type { ServiceRequestOptions } from '@influencer-stats/runtime/service-client'

/** Sends a request of the client. Returns the response; undefined if the resource does not exist. */
export type ClientRequest = (
  method: string,
  path: string,
  options?: ServiceRequestOptions,
) => Promise<Response | undefined>

export const toCollectionPath = (id: string): string => `/collections/${encodeURIComponent(id)}`
