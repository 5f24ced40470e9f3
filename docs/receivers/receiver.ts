// npm install standardwebhooks
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

interface Message {
  type: string;
  timestamp: string;
  data: { source_id?: string; message?: string };
}

const webhook = new Webhook(process.env.WEBHOOK_SECRET!);

createServer(async (request, response) => {
  // The signature is that of the bytes as they come.
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  let message: Message;
  try {
    message = webhook.verify(Buffer.concat(chunks), request.headers as Record<string, string>) as Message;
  } catch {
    response.writeHead(401).end();
    return;
  }
  // An event may come twice, with the same webhook-id.
  console.log(request.headers["webhook-id"], message.type, message.data.source_id);
  response.writeHead(204).end();
}).listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
