/* A small engine in C that keeps the protocol of docs/protocol.md: discs that fly, and come to rest on level ground.

       cc -O2 -o falling docs/protocol/falling.c
       upright engines test ./falling
       upright run --engine ./falling

   Semi-implicit Euler: v += g dt, then x += v dt; so velocities are half a step before the poses. What it cannot
   represent it declines. It reads just as much JSON as Upright writes: no escapes in the words that it looks for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1000 /* bodies */

static struct { int fixed; double radius, x, y, angle, vx, vy, spin; } body[MOST];

/* The text after "key": at or after `text`; NULL where the key is not there. */
static const char *after(const char *text, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = text ? strstr(text, quoted) : NULL;
    return found ? found + strlen(quoted) : NULL;
}

static double number(const char *text, const char *key) { return strtod(after(text, key), NULL); }

static void pair(const char *text, const char *key, double *x, double *y) {
    char *end;
    *x = strtod(strchr(after(text, key), '[') + 1, &end);
    *y = strtod(end + 1, NULL);
}

static int decline(const char *why) {
    printf("{\"format\": 1, \"declined\": \"%s\"}\n", why);
    return 0;
}

static void put(const double *values, int count) { fwrite(values, sizeof *values, count, stdout); }

int main(int argc, char **argv) {
    if (argc > 1) {
        if (strcmp(argv[1], "--version") == 0) puts("falling 1.0");
        return strcmp(argv[1], "--version") != 0; /* it knows no other option, and says so by its exit status */
    }
    char *line = NULL;
    size_t room = 0;
    if (getline(&line, &room, stdin) < 0) return 2;

    if (!strstr(line, "\"dimension\": 2")) return decline("it is planar");
    if (strstr(line, "\"polygon\"") || strstr(line, "\"arc-polygon\"")) return decline("it knows discs alone");
    if (strstr(line, "\"anchor_a\"") || strstr(line, "\"profile\"")) return decline("no joints, springs or thrusters");
    for (const char *at = line; (at = after(at, "restitution"));)
        if (strtod(at, NULL) != 0.0) return decline("nothing bounces");
    double gx, gy, ground = -1e300, dt = number(strstr(line, "\"joints\""), "dt"), duration = number(line, "duration");
    pair(line, "gravity", &gx, &gy);
    const char *boundary = after(line, "boundaries");
    if (after(boundary, "kind")) {
        double nx, ny, px;
        pair(boundary, "normal", &nx, &ny);
        pair(boundary, "point", &px, &ground);
        if (nx != 0.0 || ny != 1.0 || after(after(boundary, "kind"), "kind")) return decline("its ground is level");
    }
    int bodies = 0;
    for (const char *at = after(line, "bodies"); (at = after(at, "name")) && at < boundary && bodies < MOST; bodies++) {
        body[bodies].fixed = strncmp(after(at, "fixed"), " true", 5) == 0;
        body[bodies].radius = number(at, "radius");
        pair(at, "position", &body[bodies].x, &body[bodies].y);
        pair(at, "velocity", &body[bodies].vx, &body[bodies].vy);
        body[bodies].angle = number(at, "angle");
        body[bodies].spin = number(at, "spin");
    }
    if (bodies > 1 && boundary && after(boundary, "kind")) return decline("its bodies pass through one another");

    int steps = (int)(duration / dt + 0.5), samples = steps + 1;
    double *time = malloc(samples * sizeof *time);
    double *pose = malloc(3 * samples * bodies * sizeof *pose), *twist = malloc(3 * samples * bodies * sizeof *twist);
    for (int s = 0; s < samples; s++) {
        time[s] = s * dt;
        for (int i = 0; i < bodies; i++) {
            if (s > 0 && !body[i].fixed) {
                body[i].vx += gx * dt, body[i].vy += gy * dt;
                body[i].x += body[i].vx * dt, body[i].y += body[i].vy * dt, body[i].angle += body[i].spin * dt;
                if (body[i].y < ground + body[i].radius) body[i].y = ground + body[i].radius, body[i].vy = 0.0;
            }
            double *p = pose + 3 * (s * bodies + i), *v = twist + 3 * (s * bodies + i);
            p[0] = body[i].x, p[1] = body[i].y, p[2] = body[i].angle;
            v[0] = body[i].vx, v[1] = body[i].vy, v[2] = body[i].spin;
        }
    }
    printf("{\"format\": 1, \"planar\": true, \"dt\": %.17g, \"velocity_lag\": %.17g, \"arrays\": "
           "[[\"time\", \"f8\", [%d]], [\"pose\", \"f8\", [%d, %d, 3]], [\"twist\", \"f8\", [%d, %d, 3]]]}\n",
           dt, -0.5 * dt, samples, samples, bodies, samples, bodies);
    put(time, samples), put(pose, 3 * samples * bodies), put(twist, 3 * samples * bodies);
    return 0;
}
