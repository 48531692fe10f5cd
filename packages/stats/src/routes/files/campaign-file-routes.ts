import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { Budget } from '@influencer-stats/runtime/budget'
import { createBytesParser } from '@influencer-stats/runtime/bytes-parser'
import { closedObject } from '@influencer-stats/runtime/closed-object'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import { Readable } from 'node:stream'
import type { OpenedCache } from '../../cache/open-cache.ts'
import { importCampaigns } from '../../campaigns/import/campaign-import.ts'
import type { Collections } from '../../campaigns/collections.ts'
import type { ExportedCampaign } from '../../core/campaign-file/campaign-content.ts'
import { toExportedCampaign } from '../../core/campaign-file/exported-campaign.ts'
import type { CampaignFile } from '../../core/campaign-file/read-campaigns.ts'
import { renderCampaignRows, renderCampaignsCsv } from '../../core/campaign-file/render-campaigns.ts'
import { errors } from '../../errors.ts'
import { readCampaignFile } from '../../sheets/campaign-file.ts'
import { MAX_CAMPAIGN_FILE_BYTES, XLSX_MEDIA_TYPE } from '../../core/campaign-file/file-format.ts'
import { renderXlsx } from '../../sheets/xlsx.ts'
import { SheetFileError } from '../../sheets/zip-limits.ts'
import type { Posts } from '../../posts/posts.ts'
import { readExportedPosts } from '../../posts/exported-posts.ts'
import { exportContent, importBody, importReply, validateCampaign } from './campaign-file-schemas.ts'

const tags = ['files']
const PAGE_SIZE = 100
const exportQuery = closedObject({ format: { type: 'string', enum: ['csv', 'xlsx'], default: 'csv' } })

interface CampaignFileOptions {
  readonly collections: Collections
  readonly posts: Posts
  readonly lookUpVideos: OpenedCache['lookUpVideos']
  readonly findSource: OpenedCache['findSource']
  readonly budget: Budget
}

/** Yields all campaigns with their last stored numbers. Other work runs between two campaigns. */
async function* readExported(state: Collections['state']): AsyncGenerator<ExportedCampaign> {
  for (let after = '', page; (page = await state.list(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id)
    for (const collection of page) {
      const snapshot = await state.getSnapshot(collection.id)
      const posts = await readExportedPosts(state, collection.id)
      yield toExportedCampaign(collection, snapshot, await state.getVideos(collection.videos), posts)
      await yieldTurn()
    }
}

/** @throws Problem `CAMPAIGN_FILE_INVALID`, `BODY_TOO_LARGE` */
async function readFile(bytes: Uint8Array): Promise<CampaignFile> {
  try {
    return await readCampaignFile(bytes)
  } catch (error) {
    if (!(error instanceof SheetFileError)) throw error
    throw error.code === 'FILE_TOO_LARGE'
      ? commonErrors.BODY_TOO_LARGE(`the file ${error.message}`)
      : errors.CAMPAIGN_FILE_INVALID(`the file ${error.message}`)
  }
}

/** Registers the routes that import and export all campaigns as one file. */
export async function registerCampaignFileRoutes(app: App, { budget, ...options }: CampaignFileOptions): Promise<void> {
  const { collections } = options
  app.get(
    '/campaigns/export',
    {
      config: { cost: 100 },
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'exportCampaigns',
        summary: 'Export all campaigns as a spreadsheet',
        description:
          'Each campaign has a row with its sums, costs and rate, and rows for its creators, sources, videos, removed ' +
          'uploads and posts of other platforms, with their last stored numbers. An import of the file gives the same campaigns.',
        querystring: exportQuery,
        response: { 200: exportContent, ...buildReadReplies(errors.STATE_UNAVAILABLE, commonErrors.VALIDATION_FAILED) },
      } as never,
    },
    async (request, reply): Promise<any> => {
      const { format = 'csv' } = request.query as { readonly format?: 'csv' | 'xlsx' }
      const campaigns = readExported(collections.state)
      void reply.header('content-disposition', `attachment; filename="campaigns.${format}"`)
      if (format === 'csv')
        return reply
          .type('text/csv; charset=utf-8; header=present')
          .send(Readable.from(renderCampaignsCsv(campaigns), { highWaterMark: 1 }))
      const file = await renderXlsx(renderCampaignRows(campaigns), 'Campaigns')
      return reply.type(XLSX_MEDIA_TYPE).send(Readable.fromWeb(file as never))
    },
  )

  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    const body = { limit: MAX_CAMPAIGN_FILE_BYTES, tooLarge: commonErrors.BODY_TOO_LARGE }
    scope.addContentTypeParser(['text/csv', XLSX_MEDIA_TYPE], createBytesParser(body, budget))
    scope.post(
      '/campaigns/import',
      {
        config: { cost: 100 },
        validatorCompiler: skipBodyValidation,
        schema: {
          tags,
          operationId: 'importCampaigns',
          summary: 'Import campaigns from a spreadsheet',
          description:
            'CSV in UTF-8 with any delimiter, or XLSX; at most 4 MiB. Campaigns with an id are created or replaced. Others ' +
            'are added to the campaign of the same name, or created. Posts and their numbers are added or replaced, and never ' +
            'deleted. Refused rows and campaigns do not stop the others.',
          querystring: closedObject({
            dryRun: { type: 'boolean', default: false, description: 'True: nothing is changed.' },
          }),
          body: importBody,
          response: {
            200: importReply,
            ...buildChangeReplies(
              errors.CAMPAIGN_FILE_INVALID,
              errors.STATE_UNAVAILABLE,
              errors.LOG_UNAVAILABLE,
              errors.OUTCOME_UNKNOWN,
              commonErrors.BODY_TOO_LARGE,
              commonErrors.VALIDATION_FAILED,
              ...storeErrors,
            ),
          },
        } as never,
      },
      async (request): Promise<any> => {
        const { dryRun: isDryRun = false } = request.query as { readonly dryRun?: boolean }
        const file = await readFile((request.body as Buffer | undefined) ?? new Uint8Array())
        const result = await importCampaigns(file, { ...options, validate: validateCampaign, isDryRun })
        if (!isDryRun) request.audit = { change: 'import', what: `${result.campaigns.length} campaigns` }
        return { dryRun: isDryRun, ...result }
      },
    )
  })
}
