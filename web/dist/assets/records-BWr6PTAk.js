import{Bt as e,C as t,Ct as n,Gt as r,Ht as i,Jt as a,Nt as o,Vt as s,Yt as c,bt as l,dn as u,kt as d,ot as f,tt as p,un as m,yt as h}from"./index--8iQGo0e.js";import{at as g,u as _,y as v}from"./shared-Cp_p0dWX.js";function y(e){return b(e.getTime())}function b(t){let n=Math.floor(t/1e3);return s(e,{seconds:i.parse(n),nanos:(t-n*1e3)*1e6})}var x=20;function S({title:e,kind:t}){let{archive:r}=d.value,{answer:i}=g(()=>p.listRatings({kind:t,pageSize:x}));return n(`section`,{class:`panel`,children:[n(`h2`,{children:[r.ranking,` · `,e]}),i?.participants.length===0&&n(`p`,{class:`muted`,children:r.noRanking}),i&&i.participants.length>0&&n(`table`,{class:`scores`,children:[n(`thead`,{children:n(`tr`,{children:[n(`th`,{scope:`col`,children:r.name}),n(`th`,{scope:`col`,children:r.rating}),n(`th`,{scope:`col`,children:r.deviation}),n(`th`,{scope:`col`,children:r.games})]})}),n(`tbody`,{children:i.participants.map(({rank:e,participant:t,stats:r})=>n(`tr`,{children:[n(`th`,{scope:`row`,children:[e,`. `,n(_,{of:t})]}),n(`td`,{children:Math.round(r?.rating?.value??0)}),n(`td`,{children:Math.round(2*(r?.rating?.deviation??0))}),n(`td`,{children:r?.rating?.games})]},e))})]})]})}var C=`# The usual names of openings, as in Robert Gatliff's list: a name, and the moves from the standard start after which the
# game has it.
Diagonal c4c3
X-Square c4c3d3c5b2
Snake c4c3d3c5b3
Lysons c4c3d3c5b3f3
Pyramid c4c3d3c5b3f4b5b4c6d6f5
Heath c4c3d3c5b4
Mimura Variation II c4c3d3c5b4d2c2f4d6c6f5e6f7
Heath-Bat c4c3d3c5b4d2d6
Iwasaki Variation c4c3d3c5b4d2e2
Heath-Chimney c4c3d3c5b4e3
Raccoon Dog c4c3d3c5b5
Rocket c4c3d3c5b6
Hamilton c4c3d3c5b6c6b5
Lollipop c4c3d3c5b6e3
Cow c4c3d3c5d6
Chimney c4c3d3c5d6e3
Cow Bat c4c3d3c5d6f4b4
Bat (Piau Continuation 2) c4c3d3c5d6f4b4b6b5c6b3
Bat (Piau Continuation 1) c4c3d3c5d6f4b4b6b5c6f5
Bat (Kling Continuation) c4c3d3c5d6f4b4c6b5b3b6e3c2a4a5a6d2
Bat (Kling Alternative) c4c3d3c5d6f4b4e3b3
Rose-v-Toth c4c3d3c5d6f4f5
Tanida c4c3d3c5d6f4f5d2
Aircraft c4c3d3c5d6f4f5d2b5
Sailboat c4c3d3c5d6f4f5d2g4d7
Maruoka c4c3d3c5d6f4f5e6c6d7
Landau c4c3d3c5d6f4f5e6f6
Buffalo c4c3d3c5f6
Maruoka Buffalo c4c3d3c5f6e2c6
Tanida Buffalo c4c3d3c5f6e3c6f5f4g5
Hokuriku Buffalo c4c3d3c5f6f5
Wing Variation c4c3e6c5
Semi-Wing Variation c4c3f5c5
Parallel c4c5
Perpendicular c4e3
Fishhook c4e3f4
Mimura c4e3f4c5d6e6
Shaman c4e3f4c5d6f3c6
Inoue c4e3f4c5d6f3d3
Iago c4e3f4c5d6f3d3c3
Bhagat c4e3f4c5d6f3e2
Rose c4e3f4c5d6f3e6c3d3e2
Flat c4e3f4c5d6f3e6c3d3e2b5
Rotating Flat c4e3f4c5d6f3e6c3d3e2b5f5
Murakami Variation c4e3f4c5d6f3e6c3d3e2b5f5b3
Rotating Flat (Kling Continuation) c4e3f4c5d6f3e6c3d3e2b5f5b4f6c2e7d2c7
Rose-Birth c4e3f4c5d6f3e6c3d3e2b6f5
Brightstein c4e3f4c5d6f3e6c3d3e2b6f5b4f6g5d7
Rose-Birdie c4e3f4c5d6f3e6c3d3e2b6f5g5
Rose-Tamenori-Kling c4e3f4c5d6f3e6c3d3e2b6f5g5f6
Greenberg c4e3f4c5d6f3e6c3d3e2d2
Ralle c4e3f4c5d6f3e6c6
Horse c4e3f4c5e6
Ganglion c4e3f5b4
Swallow c4e3f5b4f3
No-Cat (Continuation) c4e3f5b4f3f4e2e6g5f6d6c6
Italian c4e3f5e6d3
Cat c4e3f5e6f4
Sakaguchi c4e3f5e6f4c5d6c6f7f3
Berner c4e3f5e6f4c5d6c6f7g5g6
Bent Ganglion c4e3f6b4
Tiger c4e3f6e6f5
Stephenson c4e3f6e6f5c5c3
No-Kung c4e3f6e6f5c5c3b4
No-Kung (Continuation) c4e3f6e6f5c5c3b4d6c6b5a6b6c7
Comp'Oth c4e3f6e6f5c5c3c6
F.A.T. Draw c4e3f6e6f5c5c3c6d3d2e2b3c1c2b4a3a5b5a6a4a2
Scorpion c4e3f6e6f5c5c3c6d3d2
Lightning Bolt c4e3f6e6f5c5c3c6d6
Kung c4e3f6e6f5c5c3g5
Leader's Tiger c4e3f6e6f5c5d3
Brightwell c4e3f6e6f5c5d6
Grand Central c4e3f6e6f5c5f4g5
Ishii c4e3f6e6f5c5f4g5g4f3c6d3d6
Mainline Tiger c4e3f6e6f5c5f4g5g4f3c6d3d6b3c3b4e2b6
Rose-Bill c4e3f6e6f5c5f4g6f7
Tamenori c4e3f6e6f5c5f4g6f7d3
Nicolet c4e3f6e6f5c5f4g6f7d6
Central Rose-Bill c4e3f6e6f5c5f4g6f7g5
Aubrey c4e3f6e6f5g6
Aubrey (Feldborg Continuation) c4e3f6e6f5g6e7c5
`.split(`
`).filter(e=>e&&!e.startsWith(`#`)).map(e=>e.slice(0,e.lastIndexOf(` `))).sort((e,t)=>e.localeCompare(t,`en`));function w({choose:e}){let{archive:r}=d.value,[i,o]=c(``),s=a(``),l=async n=>{s.current=n,o(``);let r=n?await t(()=>h(()=>T(n))):void 0;s.current===n&&(r===`nobody`&&o(n),e(r===`nobody`?void 0:r))};return n(`label`,{class:`field`,children:[n(`span`,{children:r.player}),n(`input`,{type:`search`,maxLength:24,autoComplete:`off`,placeholder:r.playerName,onChange:e=>void l(e.currentTarget.value.trim())}),i&&n(`span`,{role:`alert`,children:r.nobody(i)})]})}async function T(e){try{return(await p.getPlayerStats({displayName:e})).player}catch(e){if(E.has(l(e).reason))return`nobody`;throw e}}var E=new Set([`PLAYER_NOT_FOUND`,`BAD_NAME`,`BAD_ARGUMENT`]),D={player:void 0,kind:f.UNSPECIFIED,result:o.UNSPECIFIED,opening:``,rated:!1,minRating:0,until:``},O=[0,1400,1600,1800,2e3];function k({filter:e,change:t}){let{archive:r,create:i,stats:a}=d.value,s=[[f.UNSPECIFIED,r.everyone],[f.HUMAN,a.humans],[f.BOT,a.bots],[f.AI,a.ais]],c=[[o.UNSPECIFIED,r.any],[o.BLACK_WINS,r.blackWins],[o.WHITE_WINS,r.whiteWins],[o.DRAW,r.draw],[o.ABORTED,a.aborted]];return n(`div`,{class:`record-filter`,children:[n(w,{choose:e=>t({player:e})}),n(A,{label:r.who,value:e.kind,set:e=>t({kind:Number(e)}),children:s.map(([e,t])=>n(`option`,{value:e,children:t}))}),n(A,{label:r.result,value:e.result,set:e=>t({result:Number(e)}),children:c.map(([e,t])=>n(`option`,{value:e,children:t}))}),n(A,{label:i.opening,value:e.opening,set:e=>t({opening:e}),children:[n(`option`,{value:``,children:r.any}),C.map(e=>n(`option`,{children:e}))]}),n(A,{label:r.minRating,value:e.minRating,set:e=>t({minRating:Number(e)}),children:O.map(e=>n(`option`,{value:e,children:e||r.any}))}),n(`label`,{class:`field`,children:[n(`span`,{children:r.until}),n(`input`,{type:`date`,value:e.until,onChange:e=>t({until:e.currentTarget.value})})]}),n(`label`,{class:`check`,children:[n(`input`,{type:`checkbox`,checked:e.rated,onChange:e=>t({rated:e.currentTarget.checked})}),n(`span`,{children:r.ratedOnly})]})]})}function A({label:e,value:t,set:r,children:i}){return n(`label`,{class:`field`,children:[n(`span`,{children:e}),n(`select`,{value:t,onChange:e=>r(e.currentTarget.value),children:i})]})}var j=50,M=864e5;function N(){let{archive:e}=d.value,[t,r]=c(D);return n(`div`,{class:`records`,children:[n(`div`,{class:`title-row`,children:[n(`h1`,{children:e.finished}),n(`a`,{class:`button`,href:m({screen:`explore`,moves:``}),children:e.openings})]}),n(`div`,{class:`records-columns`,children:[n(`section`,{class:`panel`,children:[n(`h2`,{children:e.games}),n(k,{filter:t,change:e=>r(t=>({...t,...e}))}),n(P,{filter:t},JSON.stringify(t))]}),n(`div`,{class:`stack`,children:[n(S,{title:d.value.stats.humans,kind:f.HUMAN}),n(S,{title:d.value.stats.bots,kind:f.BOT}),n(S,{title:d.value.stats.ais,kind:f.AI})]})]})]})}function P({filter:e}){let{archive:i,stats:a,connection:o}=d.value,[s,l]=c(),[f,m]=c(``),[g,_]=c(!1),y=async()=>{_(!0);let n={filter:F(e),pageSize:j,pageToken:f},r=await t(()=>h(()=>p.listGames(n)));_(!1),r&&(l([...s??[],...r.games]),m(r.nextPageToken))};return r(()=>void y(),[]),s?n(u,{children:[s.length===0&&n(`p`,{class:`muted`,children:i.noGames}),n(v,{games:s}),f&&n(`button`,{type:`button`,disabled:g,onClick:y,children:a.more})]}):n(`p`,{class:`muted`,children:o.loading})}function F({player:e,kind:t,result:n,opening:r,minRating:i,rated:a,until:o}){let s=o?new Date(`${o}T00:00`):void 0;return{playerId:e?.playerId??``,kind:t,result:n,opening:r,minRating:i,...a&&{rated:a},...s&&{endedBefore:y(new Date(s.getTime()+M))}}}export{N as RecordsScreen};