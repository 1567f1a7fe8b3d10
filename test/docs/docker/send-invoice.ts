export { sendInvoice } from '../../../packages/create-mcp-saga/templates/shared/send-invoice.ts';
