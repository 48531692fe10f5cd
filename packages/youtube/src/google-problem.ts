import type { FormattedProblem, Problem } from '@influencer-stats/runtime/problems'
import { createGoogleError } from './core/google-errors.ts'
import { renderError } from './core/render-videos.ts'

/** Formats a problem of the runtime as Google's error. */
export const formatGoogleProblem = ({ status, message }: Problem): FormattedProblem => ({
  contentType: 'application/json; charset=UTF-8',
  body: renderError(createGoogleError(status, message)),
})
